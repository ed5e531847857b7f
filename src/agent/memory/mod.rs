//! What the model learns besides the conversation: the prompt, the environment, and later changes.

mod collect;
pub mod compaction;
pub mod environment;
mod imports;
mod instructions;
pub mod prompt;
pub mod session_prompt;
mod skills;
mod surroundings;
pub mod system_files;

pub use collect::InstructionSources;
pub use collect::instruction_files;
pub use environment::Environment;
pub use environment::count_changes;
pub use prompt::SystemPrompt;
pub use session_prompt::Today;
pub use session_prompt::{InstructionNote, NOTE_ORIGIN, SessionPrompt};
pub(super) use session_prompt::{PromptOptions, SessionPrompts};
pub use skills::{
    FrontMatter, SKILL_FOLDERS, Skill, SkillFolder, real_file, skill_folders, skills_in,
};
pub(super) use surroundings::{FILES_LIMIT, PlaceLook, Surroundings};
pub use system_files::SystemFiles;
pub use system_files::{PROJECT_FOLDER, SYSTEM_FILES};
